import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DelayQueueProducer, getDelayQueueProducerToken } from 'nestjs-delay-queue';
import type { Browser } from 'playwright-core';
import { type PageApplication, startPageApplication } from '../support/board/page-application.js';
import { offerSamples, sampleQueues, sampleQueuesInMemory } from '../support/board/sample-queues.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { until } from '../support/until.js';
import { BoardPage, buildBoardPage } from './board-page.js';
import { rendererMemory, startChromium } from './chromium.js';
import { expectVisible } from './shop-page.js';

const HOSTILE = '<img src=x onerror=alert(1)>';

describe.each(['Redis', 'memory'])("the board's page, with messages in %s", (store) => {
  let browser: Browser;
  let redis: TestRedis | undefined;
  let application: PageApplication;
  let producer: DelayQueueProducer;
  let board: BoardPage;

  // The browser may have to be installed first.
  jest.setTimeout(300_000);
  beforeAll(async () => {
    const server = store === 'Redis' ? startRedis() : undefined;
    [browser, redis] = await Promise.all([startChromium(), server, buildBoardPage()]);
    const parts = redis ? sampleQueues(redis.url, 'board-page') : sampleQueuesInMemory();
    application = await startPageApplication({ parts });
    ({ producer } = application);
    await offerSamples(producer, application.app.get<DelayQueueProducer>(getDelayQueueProducerToken('billing')));
  });
  beforeEach(async () => {
    board = await BoardPage.open(browser, application.board.url);
  });
  afterEach(async () => {
    expect(board.problems).toEqual([]);
    await board.close();
  });
  afterAll(async () => {
    await application.close();
    await Promise.all([browser.close(), redis?.stop()]);
  });

  describe('the overview', () => {
    it('shows each queue with its counts and what is wrong with it, in words', async () => {
      await board.goto('/');
      await expectVisible(board.row('nobody').getByText('No process handles this queue.'));
      await expectVisible(board.row('paused').getByText('This queue is paused.'));
      await expectVisible(board.row('orders').getByRole('link', { name: '8', exact: true }));
      await expectVisible(board.page.getByText('This board has no guards'));
    });

    it('shows a change without being loaded again', async () => {
      await board.goto('/?prefix=emails');
      const delayed = board.row('emails').getByRole('link', { name: '4', exact: true });
      await expectVisible(board.row('emails').getByRole('link', { name: '3', exact: true }));
      await producer.offer('emails', { to: 'cleo@example.com' }, '1h', { id: 'welcome:cleo', type: 'welcome' });
      await expectVisible(delayed);
      await producer.cancel('emails', 'welcome:cleo');
    });

    it('filters by the beginning of the name, in its address', async () => {
      await board.goto('/');
      await board.page.getByLabel('Name starts with').fill('or');
      await board.page.keyboard.press('Enter');
      await board.row('emails').waitFor({ state: 'detached' });
      expect(new URL(board.page.url()).search).toBe('?prefix=or');
      await board.page.reload();
      await expectVisible(board.row('orders'));
      expect(await board.row('emails').count()).toBe(0);
      await board.page.goBack();
      await expectVisible(board.row('emails'));
    });

    it('says so if nothing matches', async () => {
      await board.goto('/?prefix=zzz');
      await expectVisible(board.text("No queue's name starts with"));
    });

    it('changes to another instance', async () => {
      await board.goto('/');
      await board.page.getByLabel('Instance').selectOption('billing');
      await expectVisible(board.row('invoices'));
      expect(await board.row('orders').count()).toBe(0);
    });

    it('pauses and resumes a queue', async () => {
      await board.gotoQueue('emails');
      await board.button('Pause').click();
      await expectVisible(board.button('Resume'));
      expect(await producer.isPaused('emails')).toBe(true);
      await expectVisible(board.said('Paused: no process handles messages of this queue until it is resumed.'));
      await board.button('Resume').click();
      await expectVisible(board.button('Pause'));
      expect(await producer.isPaused('emails')).toBe(false);
    });
  });

  describe('the future', () => {
    beforeEach(async () => {
      await producer.clear('future');
      await producer.offerMany('future', [
        { id: 'soon', payload: 1, delay: '10m' },
        { id: 'tonight', payload: 2, delay: '5h' },
        { id: 'later', payload: 3, delay: '10d' },
        { id: 'much later', payload: 4, delay: '200d' },
      ]);
    });

    it('counts by minute, hour and day', async () => {
      await board.gotoQueue('future');
      await expectVisible(board.text('message falls due in the next hour'));
      await board.link('Day').click();
      await expectVisible(board.text('messages fall due in the next day'));
      await board.link('90 days').click();
      await expectVisible(board.page.getByText('3 messages fall due in the next 90 days'));
      await expectVisible(board.link('1 message'));
    });

    it('lists what is behind a bar, which the keyboard reaches', async () => {
      await board.gotoQueue('future', '?span=quarter');
      const bars = board.page.getByRole('list', { name: /^Messages by day/ });
      await bars.getByRole('link').first().focus();
      for (let day = 0; day < 10; day++) await board.page.keyboard.press('ArrowRight');
      // Late in the day, the next messages fall due on two days.
      expect(await bars.getByRole('link', { name: /: 1 message$/ }).count()).toBeGreaterThanOrEqual(1);
      await board.page.keyboard.press('Enter');
      await expectVisible(board.row('later'));
      expect(await board.row('soon').count()).toBe(0);
      await board.page.goBack();
      await expectVisible(board.text('messages fall due in the next 90 days'));
    });

    it('is a table for those who prefer one', async () => {
      await board.gotoQueue('future', '?span=quarter');
      await board.button('As a table').click();
      await expectVisible(board.page.getByRole('table', { name: /^Messages by day/ }));
      expect(await board.page.getByRole('rowheader').count()).toBeGreaterThanOrEqual(2);
    });

    it('shows overdue messages apart', async () => {
      await producer.offer('future', 5, 0, { id: 'overdue' });
      await board.gotoQueue('future');
      await board.page.getByRole('link', { name: 'Overdue: 1 message' }).click();
      await expectVisible(board.row('overdue'));
    });
  });

  describe('find', () => {
    it('finds by text, by type and by the beginning of an id, by links that can be shared', async () => {
      await board.gotoQueue('orders', '/messages');
      await board.page.getByLabel('Text in payload or headers').fill('CUSTOMER 77');
      await board.button('Find').click();
      await expectVisible(board.row('order:77'));
      await expectVisible(board.said('1 message found'));
      await board.page.reload();
      await expectVisible(board.row('order:77'));
      expect(await board.page.getByLabel('Text in payload or headers').inputValue()).toBe('CUSTOMER 77');
      await board.link('Clear').click();
      await board.page.getByLabel('Id, or its beginning').fill('order:29');
      await board.page.keyboard.press('Enter');
      await expectVisible(board.said('11 messages found'));
      await board.gotoQueue('emails', '/messages?type=digest');
      await expectVisible(board.row('digest'));
      expect(await board.row('welcome:ada').count()).toBe(0);
    });

    it('finds by due time and by group', async () => {
      const from = new Date(Date.now() + 1.5 * 86_400_000).toISOString();
      await board.gotoQueue('emails', `/messages?dueFrom=${from}&type=welcome`);
      await expectVisible(board.row('welcome:bob'));
      expect(await board.row('welcome:ada').count()).toBe(0);
      await board.gotoQueue('reminders', '/messages?group=customer-3');
      await expectVisible(board.page.getByRole('cell', { name: 'customer-3' }).first());
      expect(await board.page.getByRole('cell', { name: 'customer-4' }).count()).toBe(0);
    });

    it('says so if nothing matches', async () => {
      await board.gotoQueue('orders', '/messages?text=nothing-has-this');
      await expectVisible(board.text('No delayed message matches.'));
      await expectVisible(board.said('288 messages examined: these are all.'));
    });

    /** Shows all messages of a long queue. */
    async function showThousandRows(): Promise<void> {
      await producer.offerMany(
        'long',
        Array.from({ length: 1000 }, (_, i) => ({
          id: `long:${String(i).padStart(4, '0')}`,
          payload: i,
          delay: 3_600_000 + i * 1000,
        })),
      );
      await board.gotoQueue('long', '/messages');
      for (let shown = 100; shown < 1000; shown += 100) {
        await expectVisible(board.said(`${shown} messages found`));
        await board.button('Continue').click();
      }
    }

    it('draws no more rows than are seen, however many there are', async () => {
      await showThousandRows();
      await expectVisible(board.said('1,000 messages found'));
      expect(await board.page.getByRole('row').count()).toBeLessThan(80);
      expect(await board.page.getByRole('table').getAttribute('aria-rowcount')).toBe('1001');
      await board.page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      await expectVisible(board.row('long:0999'));
      expect(await board.page.getByRole('row').count()).toBeLessThan(80);
    });

    it('takes little memory for a thousand rows and payloads of a mebibyte', async () => {
      const items = Array.from({ length: 20_000 }, (_, i) => `item ${i} ${'x'.repeat(40)}`);
      for (let i = 0; i < 20; i++) await producer.offer('large', { items }, '1h', { id: `large:${i}` });
      await showThousandRows();
      await board.gotoQueue('large', '/messages');
      await expectVisible(board.row('large:0'));
      await board.link('large:0').click();
      await expectVisible(board.page.getByText(/20.?000 items/).first());
      expect(await rendererMemory(browser)).toBeLessThan(150e6);
      await producer.clear('large');
    });

    it('stops and goes on when it is told to', async () => {
      await board.page.route('**/messages?**', async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        await route.continue().catch(() => undefined);
      });
      await board.gotoQueue('orders', '/messages');
      await board.button('Stop').click();
      await expectVisible(board.said('0 messages found'));
      await board.button('Continue').click();
      await expectVisible(board.row('order:12'));
    });

    it('opens the message with an id', async () => {
      await board.gotoQueue('orders', '/messages');
      await board.page.getByLabel('Id, or its beginning').fill('order:99');
      await board.button('Open this id').click();
      await expectVisible(board.page.getByRole('heading', { name: 'order:99' }));
    });
  });

  describe('one message', () => {
    it('shows its payload as a tree or as text, its headers and its times', async () => {
      await board.gotoQueue('orders', '/message?id=order:41');
      const payload = board.page.getByRole('region', { name: 'Payload' });
      await expectVisible(payload.getByText('"customer41@example.com"'));
      await payload.getByText('lines: [ 1 item ]').click();
      await board.button('As text').click();
      await expectVisible(payload.getByText('"orderId": 41'));
      await expectVisible(board.page.getByRole('region', { name: 'Headers' }).getByText('acme'));
      const { dueAt } = (await producer.find('orders', 'order:41'))!;
      const due = board.page.locator(`time[datetime="${dueAt.toISOString()}"]`);
      expect(await due.getAttribute('title')).toContain('UTC');
    });

    it('shows bytes in hexadecimal', async () => {
      await board.gotoQueue('nobody', '/message?id=bytes');
      await expectVisible(board.text('00 01 02 fe ff'));
    });

    it('says so if there is none with the id', async () => {
      await board.gotoQueue('orders', '/message?id=nobody-knows');
      await expectVisible(board.text('No message has the id'));
    });

    it('shows hostile ids, types, headers and payloads as text', async () => {
      await board.gotoQueue('nobody', '/messages');
      await board.link(HOSTILE).click();
      await expectVisible(board.page.getByRole('heading', { name: HOSTILE }));
      await expectVisible(board.text('</script><script>alert(1)</script>'));
      await board.gotoQueue('nobody', `/message?id=${encodeURIComponent('a/b?c#d%2F')}`);
      await expectVisible(board.page.getByRole('heading', { name: 'a/b?c#d%2F' }));
      await expectVisible(board.page.getByRole('region', { name: 'Headers' }).getByText('<b>'));
    });

    it('delivers now', async () => {
      await producer.offer('emails', { to: 'dora@example.com' }, '1h', { id: 'welcome:dora', type: 'welcome' });
      await board.gotoQueue('emails', '/message?id=welcome:dora');
      await board.button('Deliver now').click();
      await expectVisible(board.said('The message is due now.'));
      await expectVisible(board.text('This message is gone'));
    });

    it('reschedules, to a delay and to a time of the viewer', async () => {
      await board.gotoQueue('orders', '/message?id=order:50');
      await board.button('Reschedule…').click();
      await board.dialog.getByLabel('Amount of time').fill('3');
      await board.dialog.getByLabel('Unit of time').selectOption('days');
      await board.confirm('Reschedule');
      await expectVisible(board.said('Rescheduled.'));
      const inThreeDays = (await producer.find('orders', 'order:50'))!.dueAt.getTime();
      expect(Math.abs(inThreeDays - Date.now() - 3 * 86_400_000)).toBeLessThan(60_000);

      await board.button('Reschedule…').click();
      await board.dialog.getByLabel('At', { exact: true }).check();
      await board.dialog.getByLabel('Date and time, in your time zone').fill('2099-07-01T12:00:30');
      await board.confirm('Reschedule');
      const berlin = new Date('2099-07-01T10:00:30Z').getTime();
      await until(async () => (await producer.find('orders', 'order:50'))!.dueAt.getTime() === berlin);
    });

    it('edits the payload, and refuses what is not JSON', async () => {
      await board.gotoQueue('orders', '/message?id=order:51');
      await board.button('Edit…').click();
      await board.dialog.getByLabel('Payload').fill('{');
      await expectVisible(board.dialog.getByText('This is not JSON'));
      expect(await board.dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
      await board.dialog.getByLabel('Payload').fill('{ "orderId": 51, "isPaid": true }');
      await board.confirm('Save');
      await expectVisible(board.said('Saved.'));
      expect((await producer.find('orders', 'order:51'))!.payload).toEqual({ orderId: 51, isPaid: true });
    });

    it('cancels once that is confirmed, and keeps the last state in view', async () => {
      await board.gotoQueue('orders', '/message?id=order:52');
      await board.button('Cancel…').click();
      await expectVisible(board.dialog);
      await board.page.keyboard.press('Escape');
      await board.dialog.waitFor({ state: 'detached' });
      expect(await producer.find('orders', 'order:52')).not.toBeNull();
      expect(await board.inspect('focused')).toBe('Cancel…');
      await board.button('Cancel…').click();
      await board.confirm('Cancel the message');
      await expectVisible(board.said('Cancelled.'));
      await expectVisible(board.text('This message is gone'));
      expect(await producer.find('orders', 'order:52')).toBeNull();
    });

    it('aborts an active message', async () => {
      await board.gotoQueue('exports', '/messages?state=active');
      await board.row('export:0').getByRole('link').click();
      await board.button('Abort…').click();
      await board.confirm('Abort the message');
      await expectVisible(board.said('Aborted.'));
      expect(await producer.find('exports', 'export:0')).toBeNull();
    });

    it('shows why a message is dead, redrives it and discards it', async () => {
      await board.gotoQueue('orders', '/message?id=order:0');
      await expectVisible(board.text('Order 0 has no customer.'));
      await expectVisible(board.page.getByLabel('Stack').getByText('sample-queues'));
      const diedAt = (await producer.find('orders', 'order:0'))!.diedAt!;
      await board.button('Redrive').click();
      await expectVisible(board.said('The message is due now, with all its attempts.'));
      await until(async () => ((await producer.find('orders', 'order:0'))?.diedAt ?? diedAt) > diedAt);
      await board.page.reload();
      await board.button('Discard…').click();
      await board.confirm('Discard the message');
      await expectVisible(board.said('Discarded.'));
      expect(await producer.find('orders', 'order:0')).toBeNull();
    });
  });

  describe('many messages', () => {
    it('reschedules those that are selected', async () => {
      await board.gotoQueue('orders', '/messages?idPrefix=order:6');
      await board.page.getByLabel('Select order:60').check();
      await board.page.getByLabel('Select order:61').check();
      await expectVisible(board.text('2 selected'));
      await board.button('Reschedule…').click();
      await board.dialog.getByLabel('Unit of time').selectOption('days');
      await board.confirm('Reschedule 2 messages');
      await expectVisible(board.said('2 messages were rescheduled.'));
      const { dueAt } = (await producer.find('orders', 'order:61'))!;
      expect(Math.abs(dueAt.getTime() - Date.now() - 5 * 86_400_000)).toBeLessThan(60_000);
    });

    it('cancels all that match once their number has been typed', async () => {
      await board.gotoQueue('orders', '/messages?idPrefix=order:28');
      await board.button('Cancel…').click();
      await expectVisible(board.dialog.getByText('11 messages', { exact: true }));
      const confirm = board.dialog.getByRole('button', { name: 'Cancel 11 messages' });
      expect(await confirm.isDisabled()).toBe(true);
      await board.dialog.getByLabel('Type 11 to confirm').fill('12');
      expect(await confirm.isDisabled()).toBe(true);
      await board.dialog.getByLabel('Type 11 to confirm').fill('11');
      await confirm.click();
      await expectVisible(board.said('11 messages were cancelled.'));
      // Its address leads to it again.
      await board.page.reload();
      await expectVisible(board.said('11 messages were cancelled.'));
      expect(await producer.find('orders', 'order:285')).toBeNull();
      expect(await producer.find('orders', 'order:27')).not.toBeNull();
    });

    it('counts without changing anything', async () => {
      await board.gotoQueue('orders', '/messages?idPrefix=order:27');
      await board.button('Count…').click();
      await expectVisible(board.dialog.getByText('messages match'));
      await board.confirm('Close');
      expect((await producer.find('orders', 'order:270'))!.state).toBe('delayed');
    });
  });

  describe('dead letters by error', () => {
    it('groups them, lists a group and redrives it', async () => {
      await board.gotoQueue('orders', '/errors');
      const refused = board.page.getByRole('listitem').filter({ hasText: 'The payment was refused.' });
      await expectVisible(refused.getByText('RejectMessage'));
      await refused.getByRole('link', { name: 'List 4 dead letters with RejectMessage' }).click();
      await expectVisible(board.said('4 messages found'));
      await expectVisible(board.text('Only those that died of RejectMessage'));
      await board.page.goBack();
      const before = (await producer.find('orders', 'order:1'))!.diedAt!;
      await refused.getByRole('button', { name: 'Redrive…' }).click();
      await board.dialog.getByLabel('Type 4 to confirm').fill('4');
      await board.confirm('Redrive 4 messages');
      await expectVisible(board.said('4 messages were redriven.'));
      await until(async () => ((await producer.find('orders', 'order:1'))?.diedAt ?? before) > before);
    });

    it('says so if there are none', async () => {
      await board.gotoQueue('emails', '/errors');
      await expectVisible(board.text('There are no dead letters.'));
    });
  });

  describe('groups', () => {
    it('shows the longest backlogs and what holds them, and cancels a group by its name', async () => {
      await board.gotoQueue('reminders', '/groups');
      await expectVisible(board.row('customer-0'));
      expect(await board.row('customer-0').getByRole('link').count()).toBe(2);
      await board.button('Cancel group customer-5').click();
      await board.dialog.getByLabel('Type customer-5 to confirm').fill('customer-5');
      await board.confirm('Cancel all of the group');
      await expectVisible(board.page.getByRole('status').getByText(/were cancelled/));
      const { delayed } = await producer.group('reminders', 'customer-5').counts();
      expect(delayed).toBe(0);
    });

    it('pauses and resumes a group', async () => {
      const isPaused = async () => {
        const { groups } = await producer.groups('reminders', { limit: 100 });
        return groups.some(({ group, paused }) => group === 'customer-4' && paused);
      };
      await board.gotoQueue('reminders', '/groups');
      await board.button('Pause group customer-4').click();
      await expectVisible(board.said('Paused: messages of this group wait until it is resumed.'));
      await expectVisible(board.row('customer-4').getByText('paused', { exact: true }));
      expect(await isPaused()).toBe(true);
      // Without the mouse: the button keeps the focus and has another name now.
      await board.button('Resume group customer-4').focus();
      await board.page.keyboard.press('Enter');
      await expectVisible(board.button('Pause group customer-4'));
      expect(await board.row('customer-4').getByText('paused', { exact: true }).count()).toBe(0);
      expect(await isPaused()).toBe(false);
    });

    it('lists a paused group without messages', async () => {
      await producer.group('reminders', 'nobody').pause();
      await board.gotoQueue('reminders', '/groups');
      await expectVisible(board.row('nobody').getByText('paused', { exact: true }));
      await producer.group('reminders', 'nobody').resume();
    });

    it('sets the concurrency of a group, without the mouse', async () => {
      const { keyboard } = board.page;
      await board.gotoQueue('reminders', '/groups');
      const open = async () => {
        await board.button('Concurrency of group customer-2').focus();
        await keyboard.press('Enter');
        await board.dialog.waitFor();
      };
      const shown = (text: string) =>
        expectVisible(board.row('customer-2').getByRole('cell', { name: text, exact: true }));
      await shown('default');
      await open();
      await keyboard.press('ArrowDown');
      expect(await board.dialog.getByLabel('At most').isChecked()).toBe(true);
      const number = board.dialog.getByLabel('Number of messages');
      for (const wrong of ['0', '1.5', '1000001', 'x', '']) {
        await number.fill(wrong);
        await expectVisible(board.dialog.getByText('Enter a whole number from 1 to 1,000,000.'));
        expect(await number.getAttribute('aria-invalid')).toBe('true');
        expect(await board.dialog.getByRole('button', { name: 'Set the concurrency' }).isDisabled()).toBe(true);
      }
      await number.fill('12');
      await keyboard.press('Enter');
      await board.dialog.waitFor({ state: 'detached' });
      await shown('12');
      await open();
      expect(await number.inputValue()).toBe('12');
      await board.dialog.getByLabel('Unlimited').check();
      await board.confirm('Set the concurrency');
      await shown('unlimited');
      await open();
      await board.dialog.getByLabel('As other groups').check();
      await board.confirm('Set the concurrency');
      await shown('default');
      const { groups } = await producer.groups('reminders', { limit: 100 });
      expect(groups.find(({ group }) => group === 'customer-2')?.concurrency).toBeUndefined();
    });

    it('is left out for a queue without groups', async () => {
      await board.gotoQueue('emails');
      await expectVisible(board.link('Repeats'));
      expect(await board.link('Groups').count()).toBe(0);
    });
  });

  describe('limits', () => {
    it('are set for all processes, shown with who set them, and left to the options again', async () => {
      await board.gotoQueue('emails');
      await board.button('Limits…').click();
      const atOnce = board.dialog.getByRole('group', { name: 'Handled at once, by all processes together' });
      await atOnce.getByLabel('At most').check();
      await board.dialog.getByLabel('Messages at once').fill('x');
      expect(await board.dialog.getByRole('button', { name: 'Set the limits' }).isDisabled()).toBe(true);
      await board.dialog.getByLabel('Messages at once').fill('5');
      const rate = board.dialog.getByRole('group', { name: 'Rate' });
      await rate.getByLabel('At most').check();
      await board.dialog.getByLabel('Seconds').fill('2');
      await board.confirm('Set the limits');
      await expectVisible(board.said('The limits are set. All processes follow within a second.'));
      await expectVisible(board.text('At most 5 messages at once. At most 100 messages within 2 s.'));
      expect(await producer.limits('emails').get()).toMatchObject({
        globalConcurrency: 5,
        rate: { max: 100, per: 2000 },
        setBy: 'board',
      });

      await board.button('Limits…').click();
      await atOnce.getByLabel('As its options say').check();
      await rate.getByLabel('As its options say').check();
      await board.confirm('Let the options decide');
      await expectVisible(board.said('The options decide again.'));
      expect(await producer.limits('emails').get()).toBeNull();
    });
  });

  describe('repeats', () => {
    it("shows a rule's next times in its zone and in the viewer's, and ends it", async () => {
      await producer.repeat('emails', 'report', { cron: '0 9 * * *', timeZone: 'Asia/Tokyo', type: 'digest' }, {});
      await board.gotoQueue('emails', '/repeats');
      const report = board.page.getByRole('listitem').filter({ has: board.link('report') });
      await expectVisible(report);
      expect(await report.getByRole('row').count()).toBe(6);
      const [tokyo, berlin] = await report.getByRole('row').nth(1).getByRole('cell').allTextContents();
      expect(tokyo).toMatch(/09:00$/);
      expect(berlin).toMatch(/0[12]:00:00/);
      await report.getByRole('button', { name: 'End report' }).click();
      await board.confirm('End the repetition');
      await expectVisible(board.said('The repetition has ended.'));
      expect(await producer.find('emails', 'report')).toBeNull();
    });
  });

  describe('handled', () => {
    it('lists what was handled, and opens one of them, with the keyboard alone', async () => {
      await board.gotoQueue('emails');
      await board.link('Handled').focus();
      await board.page.keyboard.press('Enter');
      await expectVisible(board.row('welcome:eve').getByText(`process ${process.pid}`));
      await board.link('welcome:eve').focus();
      await board.page.keyboard.press('Enter');
      await expectVisible(board.page.getByRole('heading', { name: 'welcome:eve' }));
      await expectVisible(board.page.getByRole('region', { name: 'Payload' }).getByText('"eve@example.com"'));
      await expectVisible(board.page.getByRole('region', { name: 'Headers' }).getByText('acme'));
      await expectVisible(board.text('1 of 4'));
    });

    it('goes on page by page, newest first', async () => {
      const late = Array.from({ length: 120 }, (_, i) => ({ payload: { orderId: 2 }, delay: 0, id: `late:${i}` }));
      await producer.offerMany('orders', late);
      await until(async () => (await producer.list('orders', 'handled', { limit: 1000 })).messages.length === 124);
      await board.gotoQueue('orders', '/handled');
      await expectVisible(board.said('100 messages found'));
      await board.button('Continue').click();
      await expectVisible(board.said('124 messages found, 124 messages examined: these are all.'));
      await board.gotoQueue('orders', '/message?id=late:7');
      await expectVisible(board.text('The history of this queue keeps no payloads.'));
    });

    it('says so if the queue remembers none', async () => {
      await board.gotoQueue('paused', '/handled');
      await expectVisible(board.text('This queue remembers no handled message.'));
    });
  });

  describe('workers', () => {
    it('shows the processes with their slots and what runs there', async () => {
      await board.goto('/i/-/workers');
      const worker = board.page.getByRole('region', { name: `Process ${process.pid} on` });
      await expectVisible(worker.getByRole('rowheader', { name: 'exports' }));
      await until(async () => /[12] of 2/.test((await board.row('exports').textContent()) ?? ''), { within: 30_000 });
      await board.row('exports').getByRole('link').nth(1).click();
      await expectVisible(board.text('leased until'));
    });
  });

  it('says so if an address names nothing', async () => {
    await board.goto('/i/-/elsewhere');
    await expectVisible(board.text('The address names nothing that this board shows.'));
    await board.goto('/i/-/queues/orders/elsewhere');
    await expectVisible(board.text('The address names nothing that this board shows.'));
  });

  it('is light or dark as the viewer chooses, for longer than the page is open', async () => {
    await board.goto('/');
    const ground = () => board.page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await ground();
    await board.page.getByLabel('Colours').selectOption('Dark');
    const dark = await ground();
    expect(dark).not.toBe(light);
    await board.page.reload();
    await board.heading.waitFor();
    expect(await ground()).toBe(dark);
  });

  it('moves the focus to the heading of the view that a link opens', async () => {
    await board.goto('/');
    await board.link('Workers').click();
    await expectVisible(board.page.getByRole('heading', { name: 'Workers', level: 1 }));
    expect(await board.inspect('focused')).toBe('Workers');
  });
});
