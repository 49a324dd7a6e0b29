import type { Library } from '../library.js';
import { open as openSequelize } from './sequelize.js';

/** Sequelize with the driver `mariadb` instead of `mysql2`. */
export function open(url: string): Promise<Library> {
  return openSequelize(url.replace('mysql:', 'mariadb:'));
}
