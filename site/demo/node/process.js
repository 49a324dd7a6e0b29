const process = {
  env: {},
  argv: [],
  pid: 1,
  platform: 'browser',
  version: 'v22.12.0',
  versions: { node: '22.12.0' },
  stdout: { isTTY: false, write: (text) => console.log(text.trimEnd()) },
  stderr: { isTTY: false, write: (text) => console.error(text.trimEnd()) },
  cwd: () => '/',
  on: () => process,
  once: () => process,
  off: () => process,
  removeListener: () => process,
  listenerCount: () => 0,
  emitWarning: (warning) => console.warn(warning),
  hrtime: Object.assign(() => [0, 0], { bigint: () => BigInt(Math.round(performance.now() * 1e6)) }),
  memoryUsage: () => ({ heapUsed: 0 }),
  nextTick: (task, ...args) => queueMicrotask(() => task(...args)),
};

export const { env, argv, pid, platform, version, versions, nextTick, hrtime, cwd, emitWarning } = process;
export const exit = () => undefined;
export default process;
