import { Module } from '@nestjs/common';
import { FiguresService } from './figures.service.js';

@Module({ providers: [FiguresService], exports: [FiguresService] })
export class FiguresModule {}
