import { Module } from '@nestjs/common';
import { ExportHandler } from './export-handler.js';
import { ExportsController } from './exports.controller.js';

@Module({ controllers: [ExportsController], providers: [ExportHandler] })
export class ExportsModule {}
