import { ClaimRate } from '../../lib/store/memory/claim-rate.js';
import { describeRateProperties } from '../support/rate-properties.js';

describeRateProperties({
  open: (rate) => {
    const underTest = new ClaimRate();
    return {
      claim: (now, wanted) => {
        const taken = Math.min(wanted, underTest.claims.room(rate, now));
        underTest.claims.count(taken, now);
        return Promise.resolve({ taken, ...(taken < wanted && { againIn: underTest.await(rate, now) }) });
      },
    };
  },
  slack: 0,
  runs: 300,
});
