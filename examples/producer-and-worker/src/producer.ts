import { Injectable, Module } from '@nestjs/common';
import { Emails } from './emails.js';

@Injectable()
export class SignUp {
  constructor(private readonly emails: Emails) {}

  async register(to: string): Promise<void> {
    await this.emails.offer({ to }, '2s', { id: `welcome:${to}` });
    console.log(`producer: ${to} has signed up`);
  }
}

@Module({ providers: [Emails, SignUp] })
export class ProducerModule {}
