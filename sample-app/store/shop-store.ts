/** Where this process keeps its orders and its messages. */
export type ShopStore =
  | { readonly kind: 'redis'; readonly url: string; readonly label: string }
  | { readonly kind: 'memory'; readonly label: string };

/** Injects the {@link ShopStore}. */
export const SHOP_STORE = Symbol('ShopStore');
