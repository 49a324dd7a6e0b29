/**
 * Encrypts what a queue's messages hold. `docs/encryption.md` explains what is encrypted, and how to change keys.
 * @packageDocumentation
 */
export { encryption, type EncryptionOptions } from './encryption.js';
export type { QueueEncryption } from '../message/encryption.js';
