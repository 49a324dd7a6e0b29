/** After all tests, in the process of the set-up. */
export default async function tearDown() {
  await globalThis.tearDownTests();
}
