import { DelayQueue, payload } from 'nestjs-delay-queue';

/** What both sides know. */
export class Emails extends DelayQueue('emails', payload<{ to: string }>()) {}
