// A handler, as a CommonJS package of the same application may contain one.
const process = require('node:process');
const {
  DelayedHandler,
  DelayQueueError,
  DelayQueueModule,
  DelayQueueProducer,
  RejectMessage,
} = require('nestjs-delay-queue');
const { DelayQueueTester } = require('nestjs-delay-queue/testing');

class Clerk {
  refuse({ orderId }) {
    throw new RejectMessage(`order ${orderId} does not exist`);
  }
}
const refuse = Object.getOwnPropertyDescriptor(Clerk.prototype, 'refuse');
DelayedHandler(process.env.QUEUE, { attempts: 3 })(Clerk.prototype, 'refuse', refuse);

module.exports = { Clerk, DelayQueueError, DelayQueueModule, DelayQueueProducer, DelayQueueTester };
