package leasehold.interop;

/** What a client of one maker can be asked to do, by one thread at a time. */
interface Locks {
    /** The client's name and version, as it says them itself. */
    String version();

    /** Does what the words say and tells what came of it. */
    String answer(String verb, String[] args) throws Exception;
}
