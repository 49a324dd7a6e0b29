/** The Redis user of producers and workers, so that permissions can be taken from them alone. */
export const SOAK_USER = 'soak';

const PASSWORD = 'soak';

export const LOGIN = { username: SOAK_USER, password: PASSWORD };

/** Defines the user on the server's command line, so that it exists after a restart, with all its permissions. */
export const USER_ARGUMENTS = ['--user', SOAK_USER, 'on', `>${PASSWORD}`, '~*', '&*', '+@all'];

export function asSoakUser(url: string): string {
  return url.replace('redis://', `redis://${SOAK_USER}:${PASSWORD}@`);
}
