import { describeModelRun } from './describe-model-run.js';
import { NativeRealStore } from './native.real-store.js';

describeModelRun('NativeMessageStore', 50, () => new NativeRealStore());
