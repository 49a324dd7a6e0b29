/** What the options of a layout are called there, by what they would be called among those of a queue. */
const OF_LAYOUT = new Map([
  ['codec', 'codec'],
  ['format', 'format'],
  ['redissonName', 'name'],
]);

/** An error must say what to import, so this module is the only one of the core that names a layout. */
const EXAMPLE = "of 'nestjs-delay-queue/redisson'";

export const LAYOUT_RULE = `'native' or a layout object, such as redisson() ${EXAMPLE}`;

const NAME = 'it names an instance: give it to forRoot(), or to forRootAsync() beside useFactory';

/** What to write instead of an option that belongs elsewhere; undefined: it does not. */
export function whereItBelongs(option: string): string | undefined {
  if (option === 'name') return NAME;
  const name = OF_LAYOUT.get(option);
  return name && `give it to the layout, as in layout: redisson({ ${name} }) ${EXAMPLE}`;
}
