/** Preloaded into a process to shift its wall clock from the start by the `shift` (ms) of its settings. */
import { argv } from 'node:process';

const { shift } = JSON.parse(argv[2]);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + shift);
    else super(...args);
  }
  static now() {
    return RealDate.now() + shift;
  }
};
