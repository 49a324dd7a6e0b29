import { Controller, HttpCode, Post } from '@nestjs/common';
import { ControlsService } from './controls.service.js';
import type { SwitchStates } from './switches.js';

/** Makes life hard for the orders' queue, to show how it copes. */
@Controller('controls')
export class ControlsController {
  constructor(private readonly controls: ControlsService) {}

  @Post('fail')
  @HttpCode(200)
  fail(): Promise<SwitchStates> {
    return this.controls.letHandlerFail(true);
  }

  @Post('mend')
  @HttpCode(200)
  mend(): Promise<SwitchStates> {
    return this.controls.letHandlerFail(false);
  }

  @Post('pause')
  @HttpCode(200)
  pause(): Promise<SwitchStates> {
    return this.controls.pause();
  }

  @Post('resume')
  @HttpCode(200)
  resume(): Promise<SwitchStates> {
    return this.controls.resume();
  }
}
