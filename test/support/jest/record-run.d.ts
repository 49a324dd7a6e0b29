export declare function wholeScript(
  args: readonly string[],
  scripts: Readonly<Record<string, string>>,
): string | undefined;
