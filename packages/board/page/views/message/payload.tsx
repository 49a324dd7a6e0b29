import { useMemo, useState } from 'preact/hooks';
import type { PayloadView } from '../../../src/api.js';
import { CopyButton } from '../../parts/copy-button.js';
import { countOf } from '../../parts/format.js';
import { HexDump } from '../../parts/hex-dump.js';
import { JsonTree } from '../../parts/json-tree.js';

/** Characters of JSON text that are drawn at first. */
const SHOWN_TEXT = 50_000;

export function Payload({ payload }: { readonly payload: PayloadView }) {
  const [isText, setText] = useState(false);
  return (
    <section class="card" aria-labelledby="payload-title">
      <div class="card-head">
        <h2 id="payload-title">Payload</h2>
        {payload.kind === 'json' && (
          <div class="actions">
            <button type="button" class="small" aria-pressed={isText} onClick={() => setText(!isText)}>
              As text
            </button>
            <CopyButton text={JSON.stringify(payload.value, null, 2)} what="the payload" />
          </div>
        )}
      </div>
      {payload.kind === 'json' && (isText ? <JsonText value={payload.value} /> : <JsonTree value={payload.value} />)}
      {payload.kind === 'bytes' && <HexDump base64={payload.base64} size={payload.size} />}
      {payload.kind === 'encrypted' && (
        <p class="hint">
          Encrypted with key <code>{payload.key}</code>, which the process of this board does not have:{' '}
          {countOf(payload.size, 'byte')} with the headers.
        </p>
      )}
      {payload.kind === 'hidden' && <p class="hint">{payload.reason}</p>}
    </section>
  );
}

function JsonText({ value }: { readonly value: unknown }) {
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  const [isWhole, setWhole] = useState(false);
  return (
    <>
      <pre tabIndex={0} aria-label="Payload as text">
        {isWhole ? text : text.slice(0, SHOWN_TEXT)}
      </pre>
      {!isWhole && text.length > SHOWN_TEXT && (
        <button type="button" class="small" onClick={() => setWhole(true)}>
          Show all {countOf(text.length, 'character')}
        </button>
      )}
    </>
  );
}
