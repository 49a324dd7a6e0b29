// The test of it, for the test runner of Node.js.
import 'reflect-metadata';
import { test } from 'node:test';
import { checkReminders } from './reminders.check.js';

void test('reminds on time, without Redis and without waiting', () => checkReminders());
