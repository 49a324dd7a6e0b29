/** The Redis user that producers and workers connect as, so that permissions can be taken from them and from nobody else. */
export const SOAK_USER = 'soak';

const PASSWORD = 'soak';

/** Arguments of the server, so that the user outlives a restart; it then has all of its permissions again. */
export const USER_ARGUMENTS = ['--user', SOAK_USER, 'on', `>${PASSWORD}`, '~*', '&*', '+@all'];

export function asSoakUser(url: string): string {
  return url.replace('redis://', `redis://${SOAK_USER}:${PASSWORD}@`);
}
