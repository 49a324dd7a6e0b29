/** The maximum length of a frame, because a stack may have very long lines. */
const MAX_FRAME = 300;

/** Returns the first frame of a stack, without `at` and the column, such as `Mailer.send (/app/mailer.js:12)`; empty if there is none. */
export function frameOf(stack = ''): string {
  const [, frame = ''] = /^ +at (.+)$/m.exec(stack) ?? [];
  return frame.slice(0, MAX_FRAME).replace(/(:\d+):\d+(\)?)$/, '$1$2');
}
