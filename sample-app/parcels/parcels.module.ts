import { Module } from '@nestjs/common';
import { FreezeController } from './freeze.controller.js';
import { FreezeService } from './freeze.service.js';
import { FreezeWatch } from './freeze-watch.js';
import { ParcelPacker } from './parcel-packer.js';

@Module({
  controllers: [FreezeController],
  providers: [FreezeService, FreezeWatch, ParcelPacker],
  exports: [FreezeWatch],
})
export class ParcelsModule {}
