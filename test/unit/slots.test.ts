import { describe, expect, it } from '@jest/globals';
import { Slots } from '../../lib/consumer/slots.js';

describe('Slots', () => {
  it('wakes all that wait when one is given back, in the order in which they came', () => {
    const slots = new Slots(2);
    const woken: string[] = [];
    slots.take(2);
    for (const name of ['a', 'b', 'c']) slots.await(() => woken.push(name));
    expect(slots.free).toBe(0);
    slots.giveBack(1);
    expect(woken).toEqual(['a', 'b', 'c']);
    slots.giveBack(1);
    expect(woken).toHaveLength(3);
    expect(slots.free).toBe(2);
  });

  it('wakes those that wait again the next time', () => {
    const slots = new Slots(1);
    let wakes = 0;
    const waitAgain = () => {
      wakes++;
      slots.await(waitAgain);
    };
    slots.take(1);
    slots.await(waitAgain);
    slots.giveBack(1);
    slots.take(1);
    slots.giveBack(1);
    expect(wakes).toBe(2);
  });
});
