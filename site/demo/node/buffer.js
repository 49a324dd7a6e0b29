export * from 'buffer/';
export const isUtf8 = () => true;
