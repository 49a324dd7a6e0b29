/** Sends a form without leaving the page; what the server refuses is said beside it. */
export function enableForm(form, send) {
  const button = form.querySelector('button');
  const error = form.querySelector('.error');
  const inputs = [...form.querySelectorAll('input')];

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    const problem = await failure(send(Object.fromEntries(new FormData(form))));
    button.disabled = false;
    error.hidden = problem === null;
    error.textContent = problem ?? '';
    if (problem === null) {
      inputs[0].value = '';
      inputs[0].focus();
    }
  });
}

/** Why a request failed, in words; null if it did not. */
export async function failure(request) {
  try {
    const response = await request;
    if (response.ok) return null;
    const { message } = await response.json();
    return String(message);
  } catch {
    return 'The shop does not answer. Is it running?';
  }
}
