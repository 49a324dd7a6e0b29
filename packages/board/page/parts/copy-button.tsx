import { useSession } from '../api/session.js';

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const { say } = useSession();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say(`Copied ${what}.`);
    } catch {
      say('The browser did not allow copying.');
    }
  };
  return (
    <button type="button" class="small" onClick={() => void copy()} aria-label={`Copy ${what}`}>
      Copy
    </button>
  );
}
