/**
 * Takes the pictures of the board for `docs/board.md`, of a real application with samples: `npm run pictures`
 */
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type DelayQueueProducer, getDelayQueueProducerToken } from 'nestjs-delay-queue';
import { startPageApplication } from '../support/board/page-application.js';
import { offerSamples, sampleQueues } from '../support/board/sample-queues.js';
import { startRedis } from '../support/redis/start-redis.js';
import { BoardPage, buildBoardPage } from './board-page.js';
import { startChromium } from './chromium.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const HIDE_MACHINE = fileURLToPath(new URL('./hide-machine.js', import.meta.url));
const FOLDER = fileURLToPath(new URL('../../docs/board/', import.meta.url));

interface Picture {
  readonly name: string;
  readonly path: string;
  /** What must be there before the picture is taken. */
  readonly shown: string;
  /** Buttons to press first. */
  readonly press?: string;
}

const VIEWS: readonly Picture[] = [
  // First, because the others show what workers report, too.
  { name: 'workers', path: '/i/-/workers', shown: '2 of 2' },
  { name: 'overview', path: '/', shown: 'No process handles this queue.' },
  { name: 'future', path: '/i/-/queues/orders?span=quarter', shown: 'fall due in the next' },
  { name: 'find', path: '/i/-/queues/orders/messages?text=customer%202', shown: 'messages found' },
  { name: 'message', path: '/i/-/queues/orders/message?id=order:40', shown: 'customer40@example.com' },
  { name: 'many', path: '/i/-/queues/orders/messages?idPrefix=order:2', shown: 'to confirm', press: 'Cancel…' },
  { name: 'errors', path: '/i/-/queues/orders/errors', shown: 'RejectMessage' },
  { name: 'groups', path: '/i/-/queues/reminders/groups', shown: 'customer-0' },
  { name: 'repeats', path: '/i/-/queues/emails/repeats', shown: '0 9 * * 1-5' },
];

const LOOKS = [
  { suffix: '', width: 1280, height: 800, colorScheme: 'light', names: VIEWS.map(({ name }) => name) },
  { suffix: '-dark', width: 1280, height: 800, colorScheme: 'dark', names: ['overview', 'future', 'message'] },
  { suffix: '-390', width: 390, height: 844, colorScheme: 'light', names: ['overview', 'future', 'message'] },
] as const;

const [browser, redis] = await Promise.all([startChromium(), startRedis(), buildBoardPage()]);
const application = await startPageApplication({
  parts: sampleQueues(redis.url, 'pictures'),
  board: { guards: [{ canActivate: () => true }] },
});
try {
  const billing = application.app.get<DelayQueueProducer>(getDelayQueueProducerToken('billing'));
  await offerSamples(application.producer, billing);
  await mkdir(FOLDER, { recursive: true });
  for (const { suffix, width, height, colorScheme, names } of LOOKS) {
    const options = { viewport: { width, height }, colorScheme };
    const board = await BoardPage.open(browser, application.board.url, options);
    await board.page.addInitScript({ path: HIDE_MACHINE });
    for (const { name, path, shown, press } of VIEWS.filter((view) => names.some((chosen) => chosen === view.name))) {
      await board.goto(path);
      if (press !== undefined) await board.button(press).click();
      // A report of a worker may be ten seconds old.
      await board.text(shown).waitFor({ timeout: 30_000 });
      await board.page.evaluate(`hideMachine(${JSON.stringify(ROOT)}, ${JSON.stringify(hostname())})`);
      await board.page.screenshot({ path: `${FOLDER}${name}${suffix}.png` });
    }
    await board.close();
  }
} finally {
  await application.close();
  await Promise.all([browser.close(), redis.stop()]);
}
