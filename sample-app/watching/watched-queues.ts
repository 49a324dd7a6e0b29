/** Every queue of the shop: the board and the metrics show all of them. */
export const WATCHED_QUEUES = [
  ...['orders', 'tasks', 'parcels', 'coupons', 'exports'],
  ...['mails', 'reminders', 'checkouts', 'drafts', 'reindexes'],
];
