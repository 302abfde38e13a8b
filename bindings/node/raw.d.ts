/* The functions of 3pt.h as koffi calls them: handles are addresses, results are written into typed arrays. */
/** All functions by name; the first use loads the library. */
export declare function native(): Record<string, ((...args: any[]) => any) & { async(...args: any[]): void }>;
export declare function useLibrary(file: string): void;
export declare const declared: {
  soname: string;
  version: [number, number, number];
  enums: Record<string, Record<string, number>>;
  handles: string[];
  structs: Record<string, [string, string | [string, number]][]>;
  callbacks: Record<string, [string, string[]]>;
  functions: Record<string, [string, string[], string, boolean]>;
};
