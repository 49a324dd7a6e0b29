import { describe, expect, it } from '@jest/globals';
import { runSoak } from './soak/run-soak.js';
import type { SoakSettings } from './soak/settings.js';

/** Short: `npm run soak:outbox` is the long one. */
const SHORT: SoakSettings = { library: 'pg', transactions: 3000, writers: 8, kills: 9, control: 'none' };

const soak = (changes: Partial<SoakSettings> = {}) => runSoak({ ...SHORT, ...changes }, () => undefined);

describe('an outbox whose relays, database and Redis are killed', () => {
  it.each(['pg', 'mysql2'] as const)(
    'loses nothing committed, offers nothing rolled back and duplicates nothing, through %s',
    async (library) => {
      const { lost, ghosts, doubled, committed, rolledBack } = await soak({ library });
      expect({ lost, ghosts, doubled }).toEqual({ lost: [], ghosts: [], doubled: [] });
      expect(committed).toBeGreaterThan(1000);
      expect(rolledBack).toBeGreaterThan(500);
    },
  );
});

describe('the oracle', () => {
  it('detects offers that do not wait for the commit', async () => {
    expect((await soak({ control: 'ghosts', transactions: 500, kills: 0 })).ghosts.length).toBeGreaterThan(50);
  });

  it('detects offers that are lost because they are made after the commit', async () => {
    expect((await soak({ control: 'losses', kills: 15 })).lost.length).toBeGreaterThan(0);
  });

  it('detects duplicates of a relay that offers under new ids', async () => {
    expect((await soak({ control: 'doubles', transactions: 500, kills: 0 })).doubled.length).toBeGreaterThan(50);
  });
});
