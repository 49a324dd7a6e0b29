import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { LimitsBody, LimitsView } from '../../src/api.js';
import { useSession } from '../api/session.js';
import { type Change, useChange } from '../api/use-change.js';
import { Confirm } from '../parts/confirm.js';
import { countOf, formatDuration } from '../parts/format.js';
import { Time } from '../parts/time.js';

type Limits = NonNullable<LimitsView['limits']>;

/** What somebody has set while the queue runs, in words. */
export function LimitsSet({ limits }: { readonly limits: LimitsView['limits'] | undefined }) {
  if (!limits) return null;
  return (
    <p class="limits-set">
      <span class="badge">limits set</span> {inWords(limits)} Set by <b>{limits.setBy}</b>{' '}
      <Time at={limits.setAt} as="relative" />.
    </p>
  );
}

interface LimitsButtonProps {
  readonly instance: string;
  readonly queue: string;
  readonly limits: LimitsView['limits'];
  readonly reload: () => void;
}

/** Changes the limits. */
export function LimitsButton({ instance, queue, limits, reload }: LimitsButtonProps) {
  const { say } = useSession();
  const change = useChange();
  const [isOpen, setOpen] = useState(false);
  const segments = ['i', instance, 'queues', queue, 'limits'];
  const close = () => {
    setOpen(false);
    change.forget();
  };
  const act = async (given: LimitsBody | undefined) => {
    const answer = await change.run<LimitsView>(given ? segments : [...segments, 'reset'], given);
    if (!answer) return;
    close();
    say(given ? 'The limits are set. All processes follow within a second.' : 'The options decide again.');
    reload();
  };
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Limits…
      </button>
      {isOpen && <LimitsDialog limits={limits} change={change} act={(given) => void act(given)} close={close} />}
    </>
  );
}

function inWords({ globalConcurrency, rate }: Limits): string {
  const atOnce =
    globalConcurrency === 'unlimited'
      ? 'Any number of messages at once.'
      : globalConcurrency !== undefined && `At most ${countOf(globalConcurrency, 'message')} at once.`;
  const within =
    rate === 'unlimited'
      ? 'Any number per time.'
      : rate && `At most ${countOf(rate.max, 'message')} within ${formatDuration(rate.per)}.`;
  return [atOnce, within].filter(Boolean).join(' ');
}

/** What decides about a limit. */
type Choice = 'options' | 'unlimited' | 'at-most';

const CHOICES: Readonly<Record<Choice, string>> = {
  options: 'As its options say',
  unlimited: 'No limit',
  'at-most': 'At most',
};

interface LimitsDialogProps {
  readonly limits: Limits | null;
  readonly change: Change;
  /** @param limits - undefined: none are set */
  readonly act: (limits: LimitsBody | undefined) => void;
  readonly close: () => void;
}

function LimitsDialog({ limits, change, act, close }: LimitsDialogProps) {
  const { globalConcurrency, rate } = limits ?? {};
  const [atOnce, setAtOnce] = useState(choiceOf(globalConcurrency));
  const [count, setCount] = useState(typeof globalConcurrency === 'number' ? String(globalConcurrency) : '10');
  const [perTime, setPerTime] = useState(choiceOf(rate));
  const [max, setMax] = useState(typeof rate === 'object' ? String(rate.max) : '100');
  const [seconds, setSeconds] = useState(typeof rate === 'object' ? String(rate.per / 1000) : '1');
  const per = Math.round(Number(seconds.replace(',', '.')) * 1000);
  const isReady = (atOnce !== 'at-most' || isCount(count)) && (perTime !== 'at-most' || (isCount(max) && per > 0));
  const isReset = atOnce === 'options' && perTime === 'options';
  const confirm = () => {
    if (isReset) return act(undefined);
    act({
      ...(atOnce !== 'options' && { globalConcurrency: atOnce === 'unlimited' ? atOnce : Number(count) }),
      ...(perTime !== 'options' && { rate: perTime === 'unlimited' ? perTime : { max: Number(max), per } }),
    });
  };
  return (
    <Confirm
      title="Limits of the queue"
      action={isReset ? 'Let the options decide' : 'Set the limits'}
      isReady={isReady}
      change={change}
      confirm={confirm}
      close={close}
    >
      <p>They apply to all processes at once, and to those that start later. Handlers that run already go on.</p>
      <LimitField legend="Handled at once, by all processes together" choice={atOnce} set={setAtOnce}>
        <Amount label="Messages at once" value={count} set={setCount} /> messages
      </LimitField>
      <LimitField legend="Rate" choice={perTime} set={setPerTime}>
        <Amount label="Messages per time" value={max} set={setMax} /> messages within{' '}
        <Amount label="Seconds" value={seconds} set={setSeconds} /> s
      </LimitField>
    </Confirm>
  );
}

function choiceOf(limit: unknown): Choice {
  return limit === undefined ? 'options' : limit === 'unlimited' ? limit : 'at-most';
}

const isCount = (text: string) => /^\d+$/.test(text.trim()) && Number(text) > 0;

interface LimitFieldProps {
  readonly legend: string;
  readonly choice: Choice;
  readonly set: (choice: Choice) => void;
  /** What is entered with "At most". */
  readonly children: ComponentChildren;
}

function LimitField({ legend, choice, set, children }: LimitFieldProps) {
  const id = useId();
  return (
    <fieldset class="due-field">
      <legend>{legend}</legend>
      <div class="choice">
        {(Object.keys(CHOICES) as Choice[]).map((each) => (
          <label key={each}>
            <input type="radio" name={id} checked={choice === each} onChange={() => set(each)} />
            {CHOICES[each]}
          </label>
        ))}
      </div>
      {choice === 'at-most' && <div class="amounts">{children}</div>}
    </fieldset>
  );
}

interface AmountProps {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
}

function Amount({ label, value, set }: AmountProps) {
  return (
    <input
      aria-label={label}
      inputMode="decimal"
      size={6}
      value={value}
      onInput={(event) => set(event.currentTarget.value)}
    />
  );
}
