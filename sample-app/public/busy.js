/** Marks a button while its work is under way. Disabling it would take the focus away from whoever pressed it. */
export async function whileBusy(button, work) {
  if (button.ariaDisabled === 'true') return;
  button.ariaDisabled = 'true';
  try {
    await work();
  } finally {
    button.ariaDisabled = null;
  }
}
