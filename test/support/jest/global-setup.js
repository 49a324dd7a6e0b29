import { register } from 'node:module';

/** Before all tests. JavaScript, because jest loads this file itself, without the resolution that the tests have. */
export default async function setUp() {
  register('@swc-node/register/esm', import.meta.url);
  const { setUpRedis } = await import('../redis/shared-redis.ts');
  const { setUpPrograms } = await import('../run-program.ts');
  const removePrograms = setUpPrograms();
  const tearDownRedis = await setUpRedis();
  globalThis.tearDownTests = async () => {
    removePrograms();
    await tearDownRedis();
  };
}
