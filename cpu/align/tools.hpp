// What the kernels of a level share: memory that stays, and CIGARs made from their end.

inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }
inline int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

// Memory of this thread that stays for the next call; free_rooms() frees it if it is large.
class AnyRoom {
public:
    AnyRoom() : next_(first()) { first() = this; }
    AnyRoom(const AnyRoom&) = delete;
    AnyRoom& operator=(const AnyRoom&) = delete;

    // Frees the large ones. Smaller ones stay: to get their pages again would take longer than most calls.
    static void free_large() {
        for (AnyRoom* room = first(); room != nullptr; room = room->next_) {
            if (room->bytes_ > kLarge) room->clear();
        }
    }

protected:
    ~AnyRoom() {
        std::free(data_);
        AnyRoom** link = &first();
        while (*link != this) link = &(*link)->next_;
        *link = next_;
    }
    void clear() {
        std::free(data_);
        data_ = nullptr;
        count_ = bytes_ = 0;
    }

    void* data_ = nullptr;
    int64_t count_ = 0, bytes_ = 0;

private:
    static constexpr int64_t kLarge = int64_t{1} << 25;

    static AnyRoom*& first() {
        thread_local AnyRoom* room = nullptr;
        return room;
    }

    AnyRoom* next_;
};

inline void free_rooms() { AnyRoom::free_large(); }

// An aligned array that is not cleared.
template <class T>
class Room : public AnyRoom {
public:
    // Room for `count`; what was in it is lost if it has to grow.
    T* of(int64_t count) {
        if (count > count_) {
            clear();
            data_ = take(count);
            count_ = count;
            bytes_ = count * static_cast<int64_t>(sizeof(T));
        }
        return data();
    }

    // Room for `count`, of which the first `kept` stay.
    T* extended(int64_t count, int64_t kept) {
        if (count <= count_) return data();
        const int64_t roomy = count > 2 * count_ ? count : 2 * count_;
        T* moved = take(roomy);
        if (kept > 0) std::memcpy(static_cast<void*>(moved), data_, static_cast<size_t>(kept) * sizeof(T));
        std::free(data_);
        data_ = moved;
        count_ = roomy;
        bytes_ = roomy * static_cast<int64_t>(sizeof(T));
        return moved;
    }

    T& operator[](int64_t at) { return data()[at]; }

private:
    T* data() { return static_cast<T*>(data_); }

    static T* take(int64_t count) {
        void* found = std::aligned_alloc(64, (static_cast<size_t>(count) * sizeof(T) + 63) / 64 * 64);
        if (found == nullptr) out_of_memory();
        return static_cast<T*>(found);
    }
};

// A CIGAR that is made from its end to its start.
class CigarFromEnd {
public:
    // Begins one of at most `most` operations.
    void begin(int64_t most) {
        end_ = room_.of(most + 1) + most + 1;
        at_ = end_;
    }
    void add(uint32_t operation, int64_t length) {
        if (length <= 0) return;
        if (at_ != end_ && (*at_ & 15) == operation) {
            *at_ += static_cast<uint32_t>(length) << 4;
        } else {
            *--at_ = static_cast<uint32_t>(length) << 4 | operation;
        }
    }
    const uint32_t* data() const { return at_; }
    int64_t size() const { return end_ - at_; }

private:
    Room<uint32_t> room_;
    uint32_t *at_ = nullptr, *end_ = nullptr;
};
