import { expect, test } from '@jest/globals';

test('the former entry point of the Redisson layout names the package to install', async () => {
  await expect(import('../../lib/redisson/index.js')).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringContaining(
      "npm install nestjs-delay-queue-redisson, and import from 'nestjs-delay-queue-redisson'",
    ) as unknown,
  });
});
