import { type HttpStatus } from '@nestjs/common';
import type { Response } from 'express';

/** Answers as the shop's other refusals look. */
export function refuse(response: Response, statusCode: HttpStatus, message: string): void {
  response.status(statusCode).json({ statusCode, message });
}
