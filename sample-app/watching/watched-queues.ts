/** Every queue of the shop, for its metrics. */
export const WATCHED_QUEUES = [
  ...['orders', 'tasks', 'parcels', 'coupons', 'exports'],
  ...['mails', 'reminders', 'checkouts', 'drafts', 'reindexes'],
];
