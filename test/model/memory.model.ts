import { describeModelRun } from './describe-model-run.js';
import { MemoryRealStore } from './memory.real-store.js';

describeModelRun('MemoryMessageStore', () => new MemoryRealStore());
