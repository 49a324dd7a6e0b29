import { register } from 'node:module';

/** Before all tests. JavaScript, because jest loads this file itself, without the resolution that the tests have. */
export default async function setUp() {
  register('@swc-node/register/esm', import.meta.url);
  const { setUpRedis } = await import('./shared-redis.ts');
  globalThis.tearDownRedis = await setUpRedis();
}
