/** What `consumer.ts` says when its message was handled. */
export const HANDLED = { same: true, payload: { orderId: 7 }, onTime: true };

/** What `both-formats` says when the package is one, however it is loaded: a rejection of either is known to the other. */
export const ONE_COPY = { module: true, producer: true, error: true, failedAttempts: [1] };
