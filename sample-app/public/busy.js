/** Marks a button while its work is under way. Disabled, it would take the focus from whoever has pressed it. */
export async function whileBusy(button, work) {
  if (button.ariaDisabled === 'true') return;
  button.ariaDisabled = 'true';
  try {
    await work();
  } finally {
    button.ariaDisabled = null;
  }
}
