/** Has every number but a few. */
export class AllExcept extends Set<number> {
  override has(number: number): boolean {
    return !super.has(number);
  }
}
