/** The former members of this entry point cannot be used by mistake: the compiler says where they are now. */
import { type CodecName, JavaValue, redisson } from 'nestjs-delay-queue/redisson';

// @ts-expect-error -- the type of `this` says what to install
redisson();
// @ts-expect-error -- the same with options
redisson({ codec: 'json' });
// @ts-expect-error -- it cannot be made
new JavaValue('java.util.UUID', '01234567-89ab-cdef-0123-456789abcdef');
// @ts-expect-error -- the type says so, too
export const codec: CodecName = 'json';
