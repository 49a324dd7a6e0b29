export const channel = (name) => ({ name, hasSubscribers: false, publish() {} });
