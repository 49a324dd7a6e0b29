/** The output of `consumer.ts` when its message was handled. */
export const HANDLED = { same: true, payload: { orderId: 7 }, onTime: true };

/** The output of `both-formats` when import and require load the same package, so that each knows the other's errors. */
export const ONE_COPY = { module: true, producer: true, error: true, failedAttempts: [1] };
