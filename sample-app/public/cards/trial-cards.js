import { TrialCard } from './trial-card.js';

/** Adds the cards of things to try; returns them by the trial that the shop tells about. */
export function addTrialCards() {
  return {
    mails: new TrialCard({
      id: 'mails',
      title: 'In order for each customer, round-robin for all',
      hint: 'Seven mails are due at once, 1 to 4 of them Ada’s, and each takes 0.4 s: each customer’s come in order, and customers are served round-robin, so Edsger’s only one is third, not last.',
      buttons: { 'Send 7 mails': '/trials/mails/offer' },
      lines: 8,
      excerpts: 'offer-mails send-mail',
      guides: { 'groups.md': 'Groups', 'groups.md#round-robin': 'Round-robin' },
    }),
    reminders: new TrialCard({
      id: 'reminders',
      title: 'By the calendar',
      hint: 'One message comes again and again, on any number of processes: every full minute by a rule of its handler, and every two seconds by a rule that you start.',
      buttons: { 'Repeat every 2 s': '/trials/reminders/start', 'Stop repeating': '/trials/reminders/stop' },
      excerpts: 'start-reminders stop-reminders remind',
      guides: { 'calendars.md': 'Calendars' },
    }),
    checkouts: new TrialCard({
      id: 'checkouts',
      title: 'Paid or timed out, exactly one',
      hint: 'A checkout waits 8 s. A payment changes the waiting message and makes it due now: its handler runs once, with one outcome.',
      buttons: { 'Start a checkout': '/trials/checkouts/start', 'Pay it': '/trials/checkouts/pay' },
      excerpts: 'start-checkout pay-checkout finish-checkout',
      guides: { 'producing.md#changing-a-delayed-message': 'Changing a delayed message' },
    }),
    drafts: new TrialCard({
      id: 'drafts',
      title: 'Debounce, with a limit',
      hint: 'Press often: the draft is saved once, 2 s after the last edit, but no later than 5 s after the first.',
      buttons: { 'Edit the draft': '/trials/drafts/edit' },
      excerpts: 'edit-draft save-draft',
      guides: { 'producing.md#debounce-with-a-limit': 'Debounce with a limit' },
    }),
    reindexes: new TrialCard({
      id: 'reindexes',
      title: 'Once more, please',
      hint: 'A run takes 3 s. However many changes come meanwhile, a single run follows, with the last of them.',
      buttons: { 'Change the catalogue': '/trials/reindexes/change' },
      excerpts: 'change-catalogue reindex',
      guides: { 'producing.md#follow': 'Follow' },
    }),
  };
}
