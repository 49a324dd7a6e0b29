import { whileBusy } from './busy.js';

/** Sends a form without leaving the page. If the page or the server refuses it, the reason appears beside it. */
export function enableForm(form, send) {
  const button = form.querySelector('button');
  const first = form.querySelector('input');

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void whileBusy(button, async () => {
      const problem = await problemOf(() => send(Object.fromEntries(new FormData(form))));
      say(form.querySelector('.error'), problem);
      if (problem !== null) return;
      first.value = '';
      first.focus();
    });
  });
}

/** Why the work failed, in words; null if it did not. */
export async function problemOf(work) {
  try {
    await work();
    return null;
  } catch (error) {
    return error.message;
  }
}

/** Shows a problem; null hides the last one. */
export function say(element, problem) {
  element.hidden = problem === null;
  element.textContent = problem ?? '';
}
