import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { DelayQueueModuleOptions } from './module-options.js';

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<DelayQueueModuleOptions>(
  {
    moduleName: 'DelayQueue',
  },
)
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createDelayQueueOptions')
  .setExtras({ name: undefined as string | undefined }, (definition) => ({ ...definition, global: true }))
  .build();
