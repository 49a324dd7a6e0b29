import { whileBusy } from './busy.js';
import { problemOf, say } from './form.js';
import { post } from './request.js';

/** Lets a button ask the shop for something; a refusal is shown in its card. */
export function enableAction(button, work, card = button.closest('.card')) {
  const error = card.querySelector('.error');
  button.addEventListener('click', () => whileBusy(button, async () => say(error, await problemOf(work))));
}

/** A button that switches something on and off; it shows the state that the shop reports, not what was pressed. */
export function enableSwitch(button, { on, off }) {
  enableAction(button, () => post(button.ariaChecked === 'true' ? off : on));
}
