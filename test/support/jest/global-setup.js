import { register } from 'node:module';
// Before the tests run, so that their record names the commit that they began with.
import '../../../release/proof-record.js';

/** The folders of the tests that need no server. */
const SERVERLESS = /^test\/(unit|types)\b/;

/** Before all tests. JavaScript, because jest loads this file itself, without the resolution that the tests have. */
export default async function setUp({ nonFlagArgs: files }) {
  register('@swc-node/register/esm', import.meta.url);
  const { requireRedis, setUpRedis } = await import('../redis/shared-redis.ts');
  const { setUpPrograms } = await import('../run-program.ts');
  const tearDownRedis = await setUpRedis();
  const isServerless = files.length > 0 && files.every((file) => SERVERLESS.test(file));
  if (!isServerless) requireRedis();
  // These start none, and are often run one by one.
  const removePrograms = isServerless ? () => undefined : setUpPrograms();
  globalThis.tearDownTests = async () => {
    removePrograms();
    await tearDownRedis();
  };
}
