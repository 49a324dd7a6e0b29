/**
 * Encrypts what a queue's messages hold. `docs/encryption.md` explains what is encrypted, and how to change keys.
 * @packageDocumentation
 */
export { encryption } from './encryption.js';
export type { EncryptionOptions } from './encryption-options.js';
export type { QueueEncryption } from '../message/encryption.js';
