import { type HttpStatus } from '@nestjs/common';
import type { Response } from 'express';

/** Answers in the format of the shop's other refusals. */
export function refuse(response: Response, statusCode: HttpStatus, message: string): void {
  response.status(statusCode).json({ statusCode, message });
}
