import { type CanActivate, Injectable } from '@nestjs/common';

/** Lets everybody who may open the shop use its board. A real one belongs behind a login. */
@Injectable()
export class EveryoneGuard implements CanActivate {
  canActivate(): true {
    return true;
  }
}
