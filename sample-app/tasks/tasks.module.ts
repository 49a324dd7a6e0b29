import { Module } from '@nestjs/common';
import { TaskHandler } from './task-handler.js';
import { TasksController } from './tasks.controller.js';

@Module({ controllers: [TasksController], providers: [TaskHandler] })
export class TasksModule {}
